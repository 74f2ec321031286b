-- Records of the built-in payment simulator, as JSON: settings, cards, payments with their reversals, and events.
create table console.simulated (
  id text primary key,
  kind text not null,
  body text not null
)
