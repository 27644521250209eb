-- The one name of a dtype, whatever its spelling in a CSV or in torch.
create or replace temp macro dtype_name(spelling) as
    coalesce(map_extract_value(getvariable('dtype_alias'), upper(trim(spelling))), upper(trim(spelling)))
