-- Whether a cell is blank or a finite number, so that nothing about it needs a closer look.
create or replace temp macro is_plain_number(cell) as
    cell is null or coalesce(isfinite(try_cast(cell as double)), false)
