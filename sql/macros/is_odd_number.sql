-- Whether a numeric cell needs a closer look: neither blank nor a finite number.
create or replace temp macro is_odd_number(cell) as
    cell is not null and not coalesce(isfinite(try_cast(cell as double)), false)
