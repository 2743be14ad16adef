"""The Playhouse runs where there is no OpenGL and no X11: in a process that can not open their libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

LIBRARIES = (
    "libGL.so", "libGL.so.1", "libGLX.so.0", "libOpenGL.so.0", "libEGL.so", "libEGL.so.1", "libGLESv2.so.2",
    "libOSMesa.so", "libOSMesa.so.6", "libOSMesa.so.8", "libX11.so", "libX11.so.6", "libxcb.so.1", "libXext.so.6",
    "libglfw.so", "libglfw.so.3", "libwayland-client.so.0", "libgbm.so.1",
)  # fmt: skip
MODULES = ("glfw", "OpenGL", "pyglet", "tkinter", "mujoco.viewer", "mujoco.renderer", "mujoco.gl_context")

PROGRAM = f"""
import ctypes, importlib, re, sys
from pathlib import Path

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name in {MODULES!r} or name.split(".")[0] in {MODULES!r}:
            raise ImportError(f"{{name}} is hidden")

sys.meta_path.insert(0, Refuse())
for library in {LIBRARIES!r}:
    try:
        ctypes.CDLL(library)
    except OSError:
        continue
    sys.exit(f"{{library}} is not hidden")
for module in {MODULES[:2]!r}:
    try:
        importlib.import_module(module)
    except ImportError:
        continue
    sys.exit(f"{{module}} is not hidden")

from interplay.env import registry
from interplay.env.world import Action, Start

world = registry.make("playhouse")
world.reset(Start(seed=1))
views = world.step({{"solver": Action(world.spec.rest())}}).views
pictures = world.portrait(60, 80)
assert views["solver"].image.std() > 0 and all(picture.std() > 0 for picture in pictures.values())
mapped = set(re.findall(r"\\S+$", Path("/proc/self/maps").read_text(), re.MULTILINE))
names = re.compile(r"/lib(GL|EGL|OSMesa|OpenGL|X11|xcb|glfw|wayland|gbm)[^/]*$")
found = sorted(path for path in mapped if names.search(path))
assert any("mujoco" in path for path in mapped), "this reads no maps"
sys.exit(f"opened {{found}}" if found else 0)
"""


def test_runs_where_neither_opengl_nor_x11_can_be_opened(tmp_path: Path) -> None:
    for library in LIBRARIES:
        (tmp_path / library).write_text("hidden: the loader finds this first, and it is not a library\n")
    bare = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL")}
    hidden = {**bare, "LD_LIBRARY_PATH": f"{tmp_path}:{bare.get('LD_LIBRARY_PATH', '')}".rstrip(":")}
    ran = subprocess.run([sys.executable, "-c", PROGRAM], env=hidden, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
