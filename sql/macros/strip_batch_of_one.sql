-- A shape of rank 3 or more without one leading dim of 1; (1, H) keeps its one row.
create or replace temp macro strip_batch_of_one(shape) as
    case when len(shape) > 2 and shape[1] = 1 then shape[2:] else shape end
