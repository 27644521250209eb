-- Keys of padded matches with flattened and merged shapes too.
-- reads: targets, plain_keys
-- param: flattened integer[] [files of kernels that flatten (a, b, c) to (a*b, c)]
-- param: merged integer[] [files of kernels that merge (a, b, c) to (a, b*c)]
select * from plain_keys
union all
select *, 'p' || padded_sizes(flattened(bare_shapes(shapes)))::varchar from targets where list_contains($flattened, file_id)
union all
select *, 'p' || padded_sizes(merged(bare_shapes(shapes)))::varchar from targets where list_contains($merged, file_id)
