-- Keys of targets under rules that few kernels have: flattened, merged and single-axis transposed shapes.
-- reads: targets, plain_keys
-- param: flattened integer[] [files of kernels that flatten (a, b, c) to (a*b, c)]
-- param: merged integer[] [files of kernels that merge (a, b, c) to (a, b*c)]
-- param: swapped integer[] [files of kernels that take (1, n) for (n, 1)]
select * from plain_keys
union all
select id, file_id, position, distance, suffix, 1, 'flatten_3d', flattened(bare_shapes(shapes))::varchar
from targets where list_contains($flattened, file_id)
union all
select id, file_id, position, distance, suffix, 1, 'merge_last_dims', merged(bare_shapes(shapes))::varchar
from targets where list_contains($merged, file_id)
union all
select id, file_id, position, distance, suffix, 1, 'singleton_axis_transpose',
    list_transform(shapes, lambda shape: if(len(shape) = 2 and shape[1] = 1, [shape[2], shape[1]], shape))::varchar
from targets where list_contains($swapped, file_id)
