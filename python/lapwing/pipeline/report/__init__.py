"""Pictures and a page from the tables of the ``coverage`` job; no Spark, no JVM: delta-rs, numpy and
matplotlib.

Rules of the room:

- A picture is drawn in three steps, one module each: facts are read from a table (``*_facts``), laid out
  and drawn (``*_picture``), and told in the page (``page``). Facts are numbers without matplotlib; a
  picture computes nothing.
- Percentiles are nearest rank on the exact histograms in the tables, never an average of percentiles.
- A picture must make sense for 3 tiles and for 30,000, for one device and for 1,000, for one minute and for
  a day; what does not fit is aggregated, and the picture says so.
- What is left out (tiles beyond the map, values unknown) is counted in the picture.
- Every picture exists in a light and a dark scheme; the page is one file and fetches nothing.
- No ``pyplot``: figures are plain objects, so that several threads may draw.
"""

from lapwing.pipeline.report.draw import draw

__all__ = ["draw"]
