-- The sparse mode of an attention cell: as recorded; a target that does not tell has that of its layout.
create or replace temp macro attention_sparse_mode(recorded, layout, is_measured) as
    case when recorded is not null or is_measured then recorded
         when layout = 'BNSD_NBSD' then 0 when layout = 'TND' then 3 end
