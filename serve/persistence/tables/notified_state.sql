-- What was last sent to the operator about the freshness of a metric, a store or another subject. A subject that was
-- never late or unread has no row.
create table console.notified_state (
  subject text primary key,
  state text not null,
  notified_at text not null
)
