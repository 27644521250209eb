-- A shape without one leading dim of 1; rank 1 stays.
create or replace temp macro strip_leading_one(shape) as
    case when len(shape) > 1 and shape[1] = 1 then shape[2:] else shape end
