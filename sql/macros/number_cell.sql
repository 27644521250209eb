-- A numeric cell trimmed, or null when it is blank or spells a missing value.
create or replace temp macro number_cell(cell) as
    case when lower(trim(cell)) in ('', 'nan', 'null', 'none', 'na', 'n/a', '<na>', '#n/a', '#na') then null
         else trim(cell) end
