-- Names of the axes of every path that a declaration makes.
insert into path_axes
select distinct 'declared:' || array_to_string(axis_names, ',') as path, axis_names from declared_file
order by path
