-- Records of the built-in payment simulator: its customers, cards, payments, refunds and disputes, as JSON.
create table console.simulated (
  id text primary key,
  kind text not null,
  body text not null
)
