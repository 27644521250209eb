-- The logical shape of a slot: FRACTAL_NZ (.., a, b, c, d) is (.., a*d, b*c), everything else as is.
create or replace temp macro nd_shape(shape, storage_format) as
    case when storage_format = 'FRACTAL_NZ' and len(shape) >= 4
         then list_concat(shape[1:len(shape) - 4], [shape[-4] * shape[-1], shape[-3] * shape[-2]])
         else shape end
