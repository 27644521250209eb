-- The dims of one shape slot: null when empty, [] for '()'.
create or replace temp macro slot_shape(slot) as
    case when slot = '' then null when slot = '()' then []
         else list_transform(string_split(slot, ','), lambda dim: try_cast(trim(dim) as bigint)) end
