-- How densely the axes of regimes should be measured: rules as data, which views compare the points with.
create table density_rule (
    rule_name varchar not null,
    axis_name varchar not null,
    path varchar,
    kernel_type varchar,
    range_from double,
    range_to double,
    max_gap double,
    max_ratio double,
    required_value double,
    source varchar,
    check (required_value is null or (range_from is null and max_gap is null and max_ratio is null)),
    check (required_value is not null or (range_from is not null and coalesce(max_gap, max_ratio) is not null)),
    check (range_to > range_from and max_gap > 0 and max_ratio > 1)
);
comment on table density_rule is 'One row per limit and per required value of a rule, repeated for each path and kernel that it names [source: YAML file of density rules, see density_source]';
comment on column density_rule.rule_name is 'Name of the rule [text]';
comment on column density_rule.axis_name is 'Axis that the rule is about, a name in regime.axis_names, or message_bytes [text]';
comment on column density_rule.path is 'Path that the rule is about, a file of sql/paths, or communication; null = any [text]';
comment on column density_rule.kernel_type is 'Kernel that the rule is about; null = any. The rule that names most goes before the others [text]';
comment on column density_rule.range_from is 'The limit holds from this measured value on; null for a required value [elements, bytes for message_bytes]';
comment on column density_rule.range_to is 'The limit holds below this measured value; null = no end [elements, bytes for message_bytes]';
comment on column density_rule.max_gap is 'Most that the next measured value may be larger by; null = no such limit [elements, bytes for message_bytes]';
comment on column density_rule.max_ratio is 'Most times that the next measured value may be as large; null = no such limit [ratio]';
comment on column density_rule.required_value is 'Value that must be measured; null for a limit [elements, bytes for message_bytes]';
comment on column density_rule.source is 'Where the numbers come from, as the file says [text]';

create table density_source (
    file_name varchar not null,
    sha256 varchar not null,
    is_default boolean not null
);
comment on table density_source is 'Which file the rules were loaded from, one row [source: sqlinterp density]';
comment on column density_source.file_name is 'Name of the YAML file [text]';
comment on column density_source.sha256 is 'SHA-256 of its content [hex]';
comment on column density_source.is_default is 'Whether it is the file that sqlinterp ships; those rules are renewed with sqlinterp, others are kept [boolean]';
