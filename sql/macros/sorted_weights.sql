-- Operand shapes with the last two dims of every operand after the first in ascending order: (N, K) equals (K, N).
create or replace temp macro sorted_weights(shapes) as
    list_transform(shapes, lambda shape, place: case when place > 1 and len(shape) > 1 and shape[-1] < shape[-2]
        then list_concat(shape[1:len(shape) - 2], [shape[-1], shape[-2]]) else shape end)
