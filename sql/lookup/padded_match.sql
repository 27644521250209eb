-- Candidates all of whose operands match, some of them padded, the least padded first.
-- param: candidates varchar [JSON list: id, position, distance, measured group, shapes of both sides, family of the kernel]
-- order: padding ratio, dtype, kernel, latency column, content
with candidates as (
    select unnest(from_json($candidates::varchar, '[{"id": "INTEGER", "position": "INTEGER", "distance": "INTEGER",
        "latency_rank": "INTEGER", "signature_id": "BIGINT", "row_id": "BIGINT", "shapes": "BIGINT[][]",
        "measured_shapes": "BIGINT[][]", "is_transposable": "BOOLEAN", "is_flattened": "BOOLEAN", "is_merged": "BOOLEAN"}]'),
        recursive := true)
), forms as (
    select *, bare_shapes(shapes) as bare, bare_shapes(measured_shapes) as bare_measured,
        if(is_flattened, flattened(bare), null) as flat, if(is_merged, merged(bare), null) as merge,
        list_transform(bare, lambda shape, slot: if(is_transposable and slot > 1,
            list_concat(shape[1:len(shape) - 2], [shape[-1], shape[-2]]), null)) as swapped
    from candidates where len(measured_shapes) >= len(shapes)
), matches as (
    select *, list_transform(shapes, lambda shape, slot: operand_match(shape, bare[slot], swapped[slot], flat[slot], merge[slot],
        measured_shapes[slot], bare_measured[slot])) as held
    from forms
)
select id, position, distance, row_id,
    concat_ws('+', list_filter(list_transform(held, lambda one: one[1]), lambda label: label <> '')[-1], 'padding') as rule,
    list_product(list_transform(held, lambda one, slot: if(one[2] is null, 1.0,
        list_product(shapes[slot]) / list_product(measured_shapes[slot])))) as padding_ratio
from matches
where len(list_filter(held, lambda one: one is null)) = 0 and list_bool_or(list_transform(held, lambda one: one[2] is not null))
order by id, padding_ratio, distance, position, latency_rank, signature_id, row_id
