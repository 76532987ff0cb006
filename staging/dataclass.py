"""`dataclass` for parloom's own classes: the standard one's meaning, made several times faster.

The standard decorator compiles eight functions for a frozen class, each for itself, which for all
of our classes took half the time of importing parloom. Here three are compiled in one go, and the
others are shared by all classes. `dataclasses.fields` and `replace` work as ever, and type checkers
see the standard decorator. A class that extends one of these (a new op) must be made by this
decorator, too.

What we do not use is not here: `order`, `kw_only`, `match_args=False`, `InitVar`, `init=False`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    from dataclasses import MISSING, FrozenInstanceError

    def dataclass(cls=None, /, **options):
        """The class with the methods of a dataclass; see the standard library's.

        frozen, slots, weakref_slot : False
        eq, repr : True

        >>> @dataclass(frozen=True, slots=True)
        ... class Point:
        ...     x: int
        ...     y: int = 0
        >>> Point(1), Point(1, 2) == Point(1, y=2), dataclasses.replace(Point(1), y=3)
        (Point(x=1, y=0), True, Point(x=1, y=3))
        """
        if cls is None:
            return lambda found: _complete(found, **options)
        return _complete(cls, **options)

    def _complete(cls, *, frozen=False, slots=False, weakref_slot=False, eq=True, repr=True):
        # The standard decorator collects the fields, and compiles nothing.
        cls = dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
        if slots:
            cls = _with_slots(cls, [f.name for f in dataclasses.fields(cls)], weakref_slot)
        made = _compiled(cls, frozen)
        cls.__init__ = made["__init__"]
        own = vars(cls)
        if eq and "__eq__" not in own:
            cls.__eq__ = made["__eq__"]
            # as the standard one: a mutable class with equality has no hash
            cls.__hash__ = made["__hash__"] if frozen else None
        if repr and "__repr__" not in own:
            cls.__repr__ = _repr
        if frozen:
            cls.__setattr__, cls.__delattr__ = _no_assignment, _no_deletion
            if slots:
                cls.__getstate__, cls.__setstate__ = _getstate, _setstate
        return cls

    def _with_slots(cls, names, weakref_slot):
        """The class anew, as slots can only be had when a class is made."""
        inherited = {s for base in cls.__mro__[1:] for s in getattr(base, "__slots__", ())}
        body = dict(vars(cls))
        own = [n for n in names if n not in inherited]
        if weakref_slot and "__weakref__" not in inherited:
            own.append("__weakref__")
        for name in (*names, "__dict__", "__weakref__"):
            body.pop(name, None)
        body["__slots__"] = tuple(own)
        made = type(cls)(cls.__name__, cls.__bases__, body)
        made.__qualname__ = cls.__qualname__
        return made

    def _repr(self):
        shown = (f for f in dataclasses.fields(self) if f.repr)
        parts = (f"{f.name}={getattr(self, f.name)!r}" for f in shown)
        return f"{type(self).__qualname__}({', '.join(parts)})"

    def _no_assignment(self, name, value):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _no_deletion(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _getstate(self):
        return [getattr(self, f.name) for f in dataclasses.fields(self)]

    def _setstate(self, state):
        for field, value in zip(dataclasses.fields(self), state, strict=True):
            object.__setattr__(self, field.name, value)

    def _compiled(cls, frozen):
        """`__init__`, `__eq__` and `__hash__`, compiled in one go."""
        scope = {"MISSING": MISSING, "set_": object.__setattr__}
        params, lines = ["self"], []
        for field in dataclasses.fields(cls):
            name, value = field.name, field.name
            if field.default_factory is not MISSING:
                scope[f"make_{name}"] = field.default_factory
                made = f"make_{name}()"
                value = f"{made} if {name} is MISSING else {name}" if field.init else made
            elif field.default is not MISSING:
                scope[f"default_{name}"] = field.default
                value = name if field.init else f"default_{name}"
            elif not field.init:
                continue  # __post_init__ sets it
            if field.init:
                params.append(_parameter(field))
            lines.append(_assignment(cls, name, value, frozen, scope))
        if hasattr(cls, "__post_init__"):
            lines.append("self.__post_init__()")
        compared = [f.name for f in dataclasses.fields(cls) if f.compare]
        own = _tuple("self", compared)
        text = _TEXT.format(
            params=", ".join(params),
            body="\n  ".join(lines or ["pass"]),
            own=own,
            other=_tuple("other", compared),
        )
        exec(text, scope)
        for name in ("__init__", "__eq__", "__hash__"):
            scope[name].__qualname__ = f"{cls.__qualname__}.{name}"
            scope[name].__module__ = cls.__module__
        return scope

    _TEXT = """\
def __init__({params}):
  {body}
def __eq__(self, other):
  if other.__class__ is self.__class__:
    return {own} == {other}
  return NotImplemented
def __hash__(self):
  return hash({own})
"""

    def _tuple(owner, names):
        return "(" + "".join(f"{owner}.{name}, " for name in names) + ")"

    def _parameter(field):
        if field.default_factory is not MISSING:
            return f"{field.name}=MISSING"
        return field.name if field.default is MISSING else f"{field.name}=default_{field.name}"

    def _assignment(cls, name, value, frozen, scope):
        if not frozen:
            return f"self.{name} = {value}"
        slot = getattr(cls, name, None)
        if hasattr(type(slot), "__set__"):
            scope[f"set_{name}"] = slot.__set__
            return f"set_{name}(self, {value})"
        return f"set_(self, {name!r}, {value})"
