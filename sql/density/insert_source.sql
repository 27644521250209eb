-- Which file the density rules were loaded from.
-- param: file_name varchar [name of the YAML file]
-- param: sha256 varchar [hex, of its content]
-- param: is_default boolean [whether it is the file that sqlinterp ships]
insert into density_source by name
select $file_name as file_name, $sha256 as sha256, $is_default as is_default
