-- Operand shapes with every (a, b, c) as (a, b*c).
create or replace temp macro merged(shapes) as
    list_transform(shapes, lambda shape: case when len(shape) = 3 then [shape[1], try(shape[2] * shape[3])] else shape end)
