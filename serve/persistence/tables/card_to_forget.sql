-- Cards that were replaced or removed here, but that the processor may still have saved. A row is deleted once the
-- processor has deleted its card.
create table console.card_to_forget (
  card text primary key,
  processor text not null,
  since text not null
)
