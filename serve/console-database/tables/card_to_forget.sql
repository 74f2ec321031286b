-- Cards that were replaced or removed here, and that the processor may still have saved. Gone when it has forgotten them.
create table console.card_to_forget (
  card text primary key,
  processor text not null,
  since text not null
)
