-- Takes away every point that a leaving measurement is part of, on whichever path.
delete from point where (regime_id, axis_1, axis_2, axis_3, axis_4) in (
    select (regime_id, axis_1, axis_2, axis_3, axis_4) from held_place semi join leaving_row using (row_id))
