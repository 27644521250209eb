-- Every regime with a name that is the same in every version, so that versions and runs can be compared.
-- example: Which regimes do two versions have in common?
create or replace view regime_group as
select r.regime_id, v.version_key, split_part(v.version_key, '/', 1) as device, r.kernel_type, r.path, r.input_limit, r.regime_key,
    r.input_formats, r.output_dtypes, r.axis_names,
    md5(concat_ws('|', r.kernel_type, r.path, r.input_limit, r.regime_key, r.input_formats, r.output_dtypes))[1:16] as group_id,
    coalesce(nullif(array_to_string(list_transform(list_filter(json_keys(r.regime_key), lambda name: contains(name, 'dtype')),
        lambda name: json_extract_string(r.regime_key, '$."' || name || '"')), ';'), ''), 'any') as dtype
from regime as r join profile_version as v using (version_id)
order by v.version_key, r.regime_id;
comment on view regime_group is 'One row per regime; group_id depends on what must be equal, not on the version [source: regime]';
comment on column regime_group.regime_id is 'Regime [regime.regime_id]';
comment on column regime_group.version_key is 'Version [profile_version.version_key]';
comment on column regime_group.device is 'First part of the version key [text]';
comment on column regime_group.kernel_type is 'Kernel [regime.kernel_type]';
comment on column regime_group.path is 'Path that defines the axes [regime.path]';
comment on column regime_group.input_limit is 'Leading inputs that the path reads, 0 = all [count, regime.input_limit]';
comment on column regime_group.regime_key is 'Fields that are equal in the regime [canonical JSON, regime.regime_key]';
comment on column regime_group.input_formats is 'Physical formats of the operands [regime.input_formats]';
comment on column regime_group.output_dtypes is 'Output dtypes [regime.output_dtypes]';
comment on column regime_group.axis_names is 'Names of the axes [list of text, regime.axis_names]';
comment on column regime_group.group_id is 'First 16 digits of the MD5 of kernel, path, input limit, regime, formats and output dtypes [hex]';
comment on column regime_group.dtype is 'Values of the regime fields that name dtypes, any when there are none [text]';
