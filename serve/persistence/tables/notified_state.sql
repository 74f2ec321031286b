-- What was last told to the operator about the freshness of a metric, a store or another subject. A subject that was
-- never late or unread has no row.
create table console.told_state (
  subject text primary key,
  state text not null,
  told_at text not null
)
