-- The slots of a shapes, dtypes or formats cell: outer quotes off, split at ';', trimmed, empty ones kept.
create or replace temp macro cell_slots(cell) as
    list_transform(string_split(trim(trim(cell, chr(9) || ' "'), ' '), ';'), lambda slot: trim(slot))
