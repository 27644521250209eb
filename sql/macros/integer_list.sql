-- The integers of a list cell, separated by commas or semicolons, or null unless the cell is such a list.
create or replace temp macro integer_list(cell) as
    case when regexp_full_match(cell, '[\s"]*[0-9]{1,15}(\s*[,;]\s*[0-9]{1,15})*[\s";]*')
         then list_transform(regexp_extract_all(cell, '[0-9]+'), lambda item: item::bigint) end
