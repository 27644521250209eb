-- Distinct dims of measured operands by file and place, and the dims that they are padded to.
-- source: sql/macros/sorted_weights.sql for transposed weights; a leading 1 comes and goes, so places count from the end
insert into operand_dim
with operands as (
    select file_id, generate_subscripts(operand_shapes, 1) as slot, unnest(operand_shapes) as shape
    from (select distinct file_id, operand_shapes from measurement)
), measured as (
    select distinct file_id, slot, greatest(len(shape) - place + 1, if(slot = 1, 1, 2)) as place, dim
    from (select file_id, slot, shape, generate_subscripts(shape, 1) as place, unnest(shape) as dim from operands)
    where dim > 0
), padded as (
    select file_id, slot, place, (dim // 8 + eighth) * 8 as dim
    from measured, range(1, 9) as eighths(eighth) where pads_to((dim // 8 + eighth) * 8, measured.dim)
)
select file_id, slot, place, dim, bool_or(is_measured)
from (select *, true as is_measured from measured where dim > 1 union all select *, false from padded)
group by file_id, slot, place, dim
order by file_id, slot, place, dim
