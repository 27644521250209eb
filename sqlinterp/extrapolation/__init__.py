"""Latencies beyond the measured range: rules that kernels opt in to, guards, forms, reasons."""

from sqlinterp.extrapolation.edges import REASONS, Edge, EdgePoint, Extrapolation, Refusal
from sqlinterp.extrapolation.forms import split_of
from sqlinterp.extrapolation.guards import extrapolate, opening_refusal
from sqlinterp.extrapolation.rules import FORMS, Rule, extrapolation_rules, rule_problems

__all__ = [
    "FORMS",
    "REASONS",
    "Edge",
    "EdgePoint",
    "Extrapolation",
    "Refusal",
    "Rule",
    "extrapolate",
    "extrapolation_rules",
    "opening_refusal",
    "rule_problems",
    "split_of",
]
