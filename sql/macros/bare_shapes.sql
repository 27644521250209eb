-- Operand shapes without a leading 1.
create or replace temp macro bare_shapes(shapes) as
    list_transform(shapes, lambda shape: case when len(shape) > 1 and shape[1] = 1 then shape[2:] else shape end)
