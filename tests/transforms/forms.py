"""One small program for each form that lowering knows, and arguments on which floats are exact.

    for name, text in FORMS.items():
        program = structure.program(text)
        arguments = whole_numbers(program, {"n": 5})

With whole numbers no sum rounds, so every order and every printing gives the interpreter's bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from parloom.staging.nodes import Contiguous, Program
from parloom.staging.types import Scalar

FORMS = {
    "elementwise": """
program f(n; x: f64[n], a: f64) {
  y: f64[n] = loop (i < n) {
    t: f64 = x[i]
    u: f64 = t * a
    v: f64 = u + 1.0_f64
    collect v
  }
  return y
}""",
    "elementwise, two axes": """
program f(n, m; x: f64[n, m] contiguous, r: f64[m]) {
  y: f64[n, m] = loop (i < n, j < m) {
    t: f64 = x[i, j]
    u: f64 = r[j]
    v: f64 = t - u
    collect v
  }
  return y
}""",
    "rows": """
program f(n, m; x: f64[n, m]) {
  y: f64[n, m] = loop (i < n) {
    row: f64[m] = loop (j < m) {
      t: f64 = x[i, j]
      u: f64 = t + t
      collect u
    }
    collect row
  }
  return y
}""",
    "an array value from outside": """
program f(n, m; r: f64[m], x: f64[n]) {
  y: f64[n, m], s: f64[m] = loop (i < n) {
    t: f64 = x[i]
    c: bool = t > 0.0_f64
    collect r
    where c: reduce sum (r)
  }
  return y, s
}""",
    "sum": """
program f(n; x: f64[n]) {
  s: f64, c: i64 = loop (i < n) {
    t: f64 = x[i]
    reduce sum (t)
    reduce sum as "count" (1_i64)
  }
  return s, c
}""",
    "sum of products": """
program f(n; x: f32[n], y: f32[n]) {
  s: f32 = loop (i < n) {
    t: f32 = x[i]
    u: f32 = y[i]
    v: f32 = t * u
    reduce sum (v)
  }
  return s
}""",
    "conditional reductions": """
program f(n; x: f64[n]) {
  s: f64, p: f64, q: bool, r: bool = loop (i < n) {
    t: f64 = x[i]
    c: bool = t > 0.0_f64
    d: bool = t < 3.0_f64
    where c: reduce sum {
      u: f64 = t * t
      yield u
    }
    where d: reduce max (t)
    reduce all (c)
    where c: reduce any (d)
  }
  return s, p, q, r
}""",
    "argmin": """
program f(n; x: f64[n]) {
  a: f64, b: i64, c: f64, d: i64 = loop (i < n) {
    t: f64 = x[i]
    k: i64 = i as i64
    reduce argmin (t, k)
    reduce argmax (t, k)
  }
  return a, b, c, d
}""",
    "conditional argmin": """
program f(n; x: f64[n]) {
  a: f64, b: i64 = loop (i < n) {
    t: f64 = x[i]
    c: bool = t < 2.0_f64
    k: i64 = i as i64
    where c: reduce argmin (t, k)
  }
  return a, b
}""",
    "fold": """
program f(n, m; x: f64[n], k: i64[n], z: f32[m]) {
  s: f64[m], c: i64[m], u: f32[m], g: f64[3] = loop (i < n) {
    t: f64 = x[i]
    at: i64 = k[i]
    p: bool = t > 0.0_f64
    w: f32 = t as f32
    o: i64 = at & 1_i64
    fold sum into [m]? (at: t)
    fold sum as "count" into [m]? (at: 1_i64)
    fold sum into [m]? (at: w)
    where p: fold reducer "max" associative commutative identity (-9.0_f64) (a: f64, b: f64) {
      r: f64 = maximum(a, b)
      yield r
    } into [3] {
      q: f64 = t + 1.0_f64
      yield o, q
    }
  }
  return s, c, u, g
}""",
    "fold of rows": """
program f(n, m, d; x: f64[n, d], k: i64[n], z: f64[m]) {
  s: f64[m, d], c: f64[m, d] = loop (i < n) {
    at: i64 = k[i]
    p: bool = at > 0_i64
    row: f64[d] = loop (j < d) {
      t: f64 = x[i, j]
      collect t
    }
    fold sum into [m]? (at: row)
    where p: fold prod into [m]? {
      more: f64[d] = loop (j < d) {
        t: f64 = x[i, j]
        u: f64 = absolute(t)
        v: f64 = sign(u)
        collect v
      }
      yield at, more
    }
  }
  return s, c
}""",
    "filter": """
program f(n; x: f64[n]) {
  m: i64~, y: f64[m], k: i64~, z: i64[k] = loop (i < n) {
    t: f64 = x[i]
    c: bool = t > 0.0_f64
    d: bool = t < 2.0_f64
    w: i64 = i as i64
    where c: collect t
    where d: collect w
  }
  return m, y, z
}""",
    "filter over two axes": """
program f(n, m; x: f64[n, m]) {
  k: i64~, y: f64[k] = loop (i < n, j < m) {
    t: f64 = x[i, j]
    c: bool = t > 0.0_f64
    where c: collect {
      u: f64 = t * 2.0_f64
      yield u
    }
  }
  return k, y
}""",
    "filter of rows": """
program f(n, m; x: f64[n, m], y: f64[n]) {
  k: i64~, z: f64[k, m] = loop (i < n) {
    t: f64 = y[i]
    c: bool = t > 0.0_f64
    where c: collect {
      row: f64[m] = loop (j < m) {
        u: f64 = x[i, j]
        collect u
      }
      yield row
    }
  }
  return z
}""",
    "sum of rows": """
program f(n, d; x: f64[n, d] contiguous, w: f64[n]) {
  s: f64[d], p: f64[d] = loop (i < n) {
    a: f64 = w[i]
    row: f64[d] = loop (j < d) {
      t: f64 = x[i, j]
      u: f64 = t * a
      collect u
    }
    other: f64[d] = loop (j < d) {
      t: f64 = x[i, j]
      collect t
    }
    reduce sum (row)
    reduce sum (other)
  }
  return s, p
}""",
    "conditional sum of rows": """
program f(n, d; x: f64[n, d] contiguous, w: i64[n]) {
  s: f64[d], p: i64, q: f64[d] = loop (i < n) {
    a: i64 = w[i]
    c: bool = a == 1_i64
    e: bool = not c
    where c: reduce sum {
      row: f64[d] = loop (j < d) {
        t: f64 = x[i, j]
        collect t
      }
      yield row
    }
    where c: reduce sum as "count" (1_i64)
    where e: reduce sum {
      row: f64[d] = loop (j < d) {
        t: f64 = x[i, j]
        collect t
      }
      yield row
    }
  }
  return s, p, q
}""",
    "least of rows": """
program f(n, d; x: f64[n, d]) {
  s: f64[d] = loop (i < n) {
    row: f64[d] = loop (j < d) {
      t: f64 = x[i, j]
      collect t
    }
    reduce min (row)
  }
  return s
}""",
    "outer products": """
program f(n, d; x: f64[n, d] contiguous, y: i64[n], a: f64[d], b: f64[d]) {
  s: f64[d, d] = loop (i < n) {
    label: i64 = y[i]
    one: bool = label == 1_i64
    away: f64[d] = loop (j < d) {
      t: f64 = x[i, j]
      u: f64 = a[j]
      v: f64 = b[j]
      w: f64 = select(one, u, v)
      r: f64 = t - w
      collect r
    }
    outer: f64[d, d] = loop (j < d, k < d) {
      p: f64 = away[j]
      q: f64 = away[k]
      r: f64 = p * q
      collect r
    }
    reduce sum (outer)
  }
  return s
}""",
    "matrix product as a reducer": """
program f(n; x: i64[n, 2, 2]) {
  s: i64[2, 2] = loop (i < n) {
    m: i64[2, 2] = loop (j < 2, k < 2) {
      t: i64 = x[i, j, k]
      collect t
    }
    reduce reducer "matmul" associative (a: i64[2, 2], b: i64[2, 2]) {
      c: i64[2, 2] = loop (j < 2, k < 2) {
        e: i64 = loop (l < 2) {
          p: i64 = a[j, l]
          q: i64 = b[l, k]
          r: i64 = p * q
          reduce sum (r)
        }
        collect e
      }
      yield c
    } (m)
  }
  return s
}""",
    "composition of affine functions": """
program f(n; x: i64[n], y: i64[n]) {
  s: i64, t: i64 = loop (i < n) {
    u: i64 = x[i]
    v: i64 = y[i]
    reduce reducer "affine" associative identity (1_i64, 0_i64) (a: i64, b: i64, c: i64, d: i64) {
      p: i64 = a * c
      q: i64 = b * c
      r: i64 = q + d
      yield p, r
    } (u, v)
  }
  return s, t
}""",
    "components that read the first": """
program f(n; x: i64[n], y: i64[n]) {
  s: i64, t: i64 = loop (i < n) {
    u: i64 = x[i]
    v: i64 = y[i]
    reduce reducer "second" associative identity (1_i64, 0_i64) (a: i64, b: i64, c: i64, d: i64) {
      t1: i64 = a * c
      t2: i64 = a * d
      t3: i64 = t2 + b
      yield t1, t3
    } (u, v)
  }
  return s, t
}""",
    "a number and a row as components": """
program f(n, d; x: i64[n, d], y: i64[n]) {
  s: i64, t: i64[d] = loop (i < n) {
    v: i64 = y[i]
    row: i64[d] = loop (j < d) {
      u: i64 = x[i, j]
      collect u
    }
    reduce reducer "scaled" associative identity (1_i64, 0_i64) (a: i64, b: i64[d],
      c: i64, e: i64[d]) {
      p: i64 = a * c
      q: i64[d] = loop (j < d) {
        g: i64 = b[j]
        h: i64 = e[j]
        k: i64 = a * h
        l: i64 = g + k
        collect l
      }
      yield p, q
    } (v, row)
  }
  return s, t
}""",
    "a row and a number as components": """
program f(n, d; x: i64[n, d], y: i64[n]) {
  t: i64[d], s: i64 = loop (i < n) {
    v: i64 = y[i]
    c: bool = v > 0_i64
    row: i64[d] = loop (j < d) {
      u: i64 = x[i, j]
      collect u
    }
    where c: reduce reducer "scaled" associative (b: i64[d], a: i64,
      e: i64[d], o: i64) {
      p: i64 = a * o
      q: i64[d] = loop (j < d) {
        g: i64 = b[j]
        h: i64 = e[j]
        k: i64 = a * h
        l: i64 = g + k
        collect l
      }
      yield q, p
    } (row, v)
  }
  return t, s
}""",
    "in order": """
program f(n; x: i64[n]) {
  s: i64 = loop (i < n) {
    t: i64 = x[i]
    reduce reducer "digits" identity (0_i64) (a: i64, b: i64) {
      c: i64 = a * 10_i64
      d: i64 = c - b
      yield d
    } (t)
  }
  return s
}""",
    "in order without identity": """
program f(n; x: i64[n]) {
  s: i64 = loop (i < n) {
    t: i64 = x[i]
    reduce reducer "difference" (a: i64, b: i64) {
      d: i64 = a - b
      yield d
    } (t)
  }
  return s
}""",
    "nested filter": """
program f(n, m; x: f64[n, m]) {
  y: i64[n], z: f64[n] = loop (i < n) {
    k: i64~, kept: f64[k] = loop (j < m) {
      t: f64 = x[i, j]
      c: bool = t > 0.0_f64
      where c: collect t
    }
    s: f64 = loop (j < k) {
      t: f64 = kept[j]
      u: f64 = t * t
      reduce sum (u)
    }
    w: i64 = k as i64
    collect w
    collect s
  }
  return y, z
}""",
    "nested reductions": """
program f(n, m; x: f64[n, m]) {
  y: f64[n], z: f64[n], w: i64[n], v: f64[n] = loop (i < n) {
    a: f64, b: f64, c: i64, d: f64 = loop (j < m) {
      t: f64 = x[i, j]
      k: i64 = j as i64
      p: bool = t > 1.0_f64
      reduce sum (t)
      reduce argmin (t, k)
      where p: reduce sum (t)
    }
    collect a
    collect b
    collect c
    collect d
  }
  return y, z, w, v
}""",
    "nested fold": """
program f(n, m; x: i64[n, m]) {
  y: i64[n, 4] = loop (i < n) {
    h: i64[4] = loop (j < m) {
      t: i64 = x[i, j]
      k: i64 = t & 3_i64
      fold sum into [4] (k: 1_i64)
    }
    g: i64[4] = loop (j < 4) {
      a: i64 = h[j]
      b: i64 = h[3]
      c: i64 = a - b
      collect c
    }
    collect g
  }
  return y
}""",
    "while": """
program f(n; x: i64[n]) {
  y: i64[n] = loop (i < n) {
    t: i64 = x[i]
    u: i64 = absolute(t)
    a: i64, b: i64 = while (p: i64 = u, q: i64 = 0_i64) {
      c: bool = p > 0_i64
      yield c
    } do (p: i64, q: i64) {
      r: i64 = p >> 1_i64
      s: i64 = p & 1_i64
      w: i64 = q + s
      yield r, w
    }
    collect b
  }
  return y
}""",
    "state that trades places": """
program f(n, d; x: i64[n, d], k: i64[d]) {
  y: i64[n, d], z: i64[n], o: i64[n] = loop (i < n) {
    row: i64[d] = loop (j < d) {
      t: i64 = x[i, j]
      collect t
    }
    a: i64[d], b: i64[d], c: i64, e: i64 = for (l < 3;
      p: i64[d] = row, q: i64[d] = k, g: i64 = 1_i64, h: i64 = 2_i64) {
      u: i64[d] = loop (j < d) {
        v: i64 = p[j]
        w: i64 = q[j]
        r: i64 = v + w
        collect r
      }
      yield q, u, h, g
    }
    collect a
    collect c
    collect e
  }
  return y, z, o
}""",
    "branches": """
program f(n, d; x: i64[n, d], k: i64[n]) {
  y: i64[n, d], z: i64[n] = loop (i < n) {
    t: i64 = k[i]
    c: bool = t > 0_i64
    a: i64[d], b: i64 = if c {
      row: i64[d] = loop (j < d) {
        u: i64 = x[i, j]
        v: i64 = u * t
        collect v
      }
      s: i64 = loop (j < d) {
        w: i64 = row[j]
        reduce sum (w)
      }
      yield row, s
    } else {
      row: i64[d] = loop (j < d) {
        u: i64 = x[i, j]
        collect u
      }
      yield row, t
    }
    collect a
    collect b
  }
  return y, z
}""",
    "nearest row": """
program f(n, m, d; x: f64[n, d] contiguous, c: f64[m, d] contiguous) {
  label: i64[n], least: f64[n] = loop (i < n) {
    a: f64, b: i64 = loop (k < m) {
      s: f64 = loop (j < d) {
        t: f64 = x[i, j]
        u: f64 = c[k, j]
        v: f64 = t - u
        w: f64 = v * v
        reduce sum (w)
      }
      q: i64 = k as i64
      reduce argmin (s, q)
    }
    collect b
    collect a
  }
  return label, least
}""",
    "nearest row's last number": """
program f(n, m, d; x: i64[n, d] contiguous, c: i64[m, d] contiguous, k: i64[8]) {
  y: i64[n], z: i64[n] = loop (i < n) {
    a: i64, b: i64 = loop (l < m) {
      s: i64 = loop (j < d) {
        t: i64 = x[i, j]
        u: i64 = c[l, j]
        v: i64 = t - u
        w: i64 = v * v
        g: i64 = w & 7_i64
        h: i64 = k[g]
        reduce sum (h)
      }
      o: i64~ = l + 5
      q: i64 = o as i64
      reduce argmax (s, q)
    }
    collect b
    collect a
  }
  return y, z
}""",
    "k-means step": """
program f(n, m, d; x: f64[n, d] contiguous, c: f64[m, d] contiguous) {
  total: f64[m, d], count: i64[m] = loop (i < n) {
    a: f64, b: i64 = loop (k < m) {
      s: f64 = loop (j < d) {
        t: f64 = x[i, j]
        u: f64 = c[k, j]
        v: f64 = t - u
        w: f64 = v * v
        reduce sum (w)
      }
      q: i64 = k as i64
      reduce argmin (s, q)
    }
    row: f64[d] = loop (j < d) {
      t: f64 = x[i, j]
      collect t
    }
    fold sum into [m]? (b: row)
    fold sum as "count" into [m]? (b: 1_i64)
  }
  return total, count
}""",
    "product of matrices": """
program f(n, m, d; x: f64[n, d] contiguous, c: f64[d, m] contiguous) {
  y: f64[n, m] = loop (i < n, k < m) {
    s: f64 = loop (j < d) {
      t: f64 = x[i, j]
      u: f64 = c[j, k]
      w: f64 = t * u
      reduce sum (w)
    }
    collect s
  }
  return y
}""",
    "gradient": """
program f(n, d; x: f64[n, d] contiguous, y: f64[n], w: f64[d]) {
  g: f64[d] = loop (i < n) {
    label: f64 = y[i]
    s: f64 = loop (j < d) {
      t: f64 = x[i, j]
      u: f64 = w[j]
      v: f64 = t * u
      reduce sum (v)
    }
    e: f64 = s - label
    row: f64[d] = loop (j < d) {
      t: f64 = x[i, j]
      v: f64 = t * e
      collect v
    }
    reduce sum (row)
  }
  return g
}""",
    "everything at once": """
program f(n, m; x: i64[n], k: i64[n], z: i64[m]) {
  y: i64[n], s: i64, a: i64, b: i64, q: i64~, w: i64[q], h: i64[m] = loop (i < n) {
    t: i64 = x[i]
    at: i64 = k[i]
    j: i64 = i as i64
    c: bool = t > 0_i64
    u: i64 = t * t
    collect u
    reduce sum (t)
    reduce argmax (u, j)
    where c: collect at
    where c: fold sum into [m]? (at: t)
  }
  return y, s, a, b, w, h
}""",
    "reductions of several axes": """
program f(n, m; x: i64[n, m, 3], y: i64[m]) {
  s: i64, a: i64, b: i64, h: i64[m, 3] = loop (i < n, j < m, k < 3) {
    t: i64 = x[i, j, k]
    u: i64 = y[j]
    v: i64 = t * u
    o: i64~ = i * 100
    q: i64 = o as i64
    reduce sum (v)
    reduce argmin (t, q)
    fold sum into [m, 3] (j, k: t)
  }
  return s, a, b, h
}""",
}


def whole_numbers(
    program: Program, sizes: Mapping[str, int], seed: int = 0, most: int = 4
) -> list[Any]:
    """Arguments with whole numbers from -3 to 3; arrays named `k` hold locations below `m`.

    Sizes not named are `most`. Arrays that need not be contiguous have negative strides.
    """
    rng = np.random.default_rng(seed)
    found: list[Any] = []
    for param in program.params:
        if isinstance(param.type, Scalar):
            found.append(param.type.dtype.type(rng.integers(-3, 4)))
            continue
        shape = [d if isinstance(d, int) else sizes.get(str(d), most) for d in param.type.shape]
        low, high = (0, sizes.get("m", most)) if param.name == "k" else (-3, 4)
        array = rng.integers(low, max(high, 1), shape).astype(param.type.element.dtype)
        found.append(array if Contiguous() in param.facts else array[::-1].copy()[::-1])
    return found
