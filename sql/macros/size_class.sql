-- A number for the padded sizes of operands that does not tell ones, padding or transposed weights: equal for rows and all their targets.
create or replace temp macro size_class(padded) as (md5_number_lower(
    list_transform(padded, lambda dims: list_filter(dims, lambda dim: dim > 64))::varchar) >> 1)::bigint
