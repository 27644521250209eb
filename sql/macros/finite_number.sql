-- A numeric cell as a number, or null unless it is finite.
create or replace temp macro finite_number(cell) as
    if(isfinite(try_cast(cell as double)), try_cast(cell as double), null)
