-- The key-value heads of an attention cell: as recorded; a target that does not tell has those of its key.
create or replace temp macro attention_kv_heads(recorded, key, layout, is_measured) as
    case when recorded is not null or is_measured then recorded
         when layout = 'BNSD_NBSD' and len(key) = 4 then key[2]
         when len(key) >= 2 then key[-2] end
