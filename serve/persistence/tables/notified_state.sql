-- What was last sent: to the operator about the freshness of a metric, a store or another subject, and to the people of
-- an account about its balance and its auto-recharge (`account …`).
create table console.notified_state (
  subject text primary key,
  state text not null,
  notified_at text not null
)
