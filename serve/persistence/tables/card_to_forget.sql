-- Cards that were replaced or removed here, but that the processor may still have saved. Deleted once it has forgotten
-- them.
create table console.card_to_forget (
  card text primary key,
  processor text not null,
  since text not null
)
