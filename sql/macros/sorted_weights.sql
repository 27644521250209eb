-- Operand shapes without a batch of 1, the last two dims of every operand after the first in ascending order.
-- (N, K) then equals (K, N). A weight of rank 2 keeps its 1: it is one row of a matrix, not a batch.
create or replace temp macro sorted_weights(shapes) as
    list_transform(list_transform(shapes, lambda shape, place:
            if(len(shape) > if(place = 1, 1, 2) and shape[1] = 1, shape[2:], shape)),
        lambda shape, place: case when place > 1 and len(shape) > 1 and shape[-1] < shape[-2]
            then list_concat(shape[1:len(shape) - 2], [shape[-1], shape[-2]]) else shape end)
