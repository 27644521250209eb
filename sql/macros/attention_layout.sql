-- The layout of an attention cell: as recorded; a target that does not tell has that of its query's rank or sparse mode.
create or replace temp macro attention_layout(recorded, rank, sparse_mode, is_measured) as
    case when recorded is not null then recorded
         when is_measured then null
         when rank = 4 or sparse_mode = 0 then 'BNSD_NBSD'
         when rank in (2, 3) then 'TND' end
