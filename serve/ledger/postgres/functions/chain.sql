-- Hash of the last of several entries in order, from the hash before the first and the fields of each.
create aggregate ledger.chain(beginning text, fields text) (sfunc = ledger.chain_link, stype = text)
