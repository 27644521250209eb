-- Whether a cell is blank or a short integer, so that nothing about it needs a closer look.
create or replace temp macro is_plain_integer(cell) as
    cell is null or regexp_full_match(cell, '[0-9]{1,9}')
