-- Operand shapes with every (a, b, c) as (a*b, c).
create or replace temp macro flattened(shapes) as
    list_transform(shapes, lambda shape: case when len(shape) = 3 then [try(shape[1] * shape[2]), shape[3]] else shape end)
