"""Real content, which nobody here made: T1 and T2 of docs/content.md, and the rules that cook it."""
import os, shutil, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
import debian

DEBIAN_T1 = ["minetest-data", "extremetuxracer-data"]
DEBIAN_T2 = ["endless-sky-data"]
WEBXR = "@webxr-input-profiles/assets@1.0.20"
SMALL_GLB_BYTES = 300 * 1024
# platform -> (texture family, shader target, what spirv-val calls it)
PLATFORMS = {"pc": ("bc", "spirv-1.5", "vulkan1.2"), "phone": ("astc", "essl-310", None), "plain": ("rgba8", "msl-2.3", None)}


def platform_blocks(names=tuple(PLATFORMS)):
    return "".join(f'[[platform]]\nname = "{name}"\ntexture = "{PLATFORMS[name][0]}"\nshader = "{PLATFORMS[name][1]}"\n' for name in names)


def project(platforms=tuple(PLATFORMS)):
    """A galley.toml."""
    return """[project]
name = "content"
[[mount]]
path = "/Game"
dir = "content"
""" + platform_blocks(platforms) + """
[[rule]]
match = "/Game/**/*.{png,jpg,jpeg,tga,bmp,hdr,PNG,JPG}"
cooker = "texture"
[[rule]]
match = "/Game/**/*{_normal,_n}.{png,jpg,tga}"
settings = { usage = "normal" }
[[rule]]
match = "/Game/**/*.{ogg,wav,flac}"
cooker = "audio"
[[rule]]
match = "/Game/**/*.{gltf,glb}"
cooker = "mesh"
[[rule]]
match = "/Game/**/*.json"
cooker = "data"
"""


def unpack_debian(package, target):
    with tempfile.TemporaryDirectory() as folder:
        try:
            shared = os.path.join(debian.unpack(package, folder), "usr/share")
        except debian.NotFetched as error:
            sys.exit(f"validate: {error}: the real content comes from Debian's packages, and needs them reachable")
        for name in os.listdir(shared):
            source = os.path.join(shared, name)
            if os.path.isdir(source) and name not in ("doc", "man", "lintian"):
                shutil.copytree(source, os.path.join(target, package, name), ignore_dangling_symlinks=True)


def unpack_glbs(target, bytes_max):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", WEBXR], cwd=folder, stdout=subprocess.DEVNULL, check=True)
        subprocess.run(["tar", "xf", os.listdir(folder)[0]], cwd=folder, check=True)
        for at, _, names in os.walk(os.path.join(folder, "package")):
            for name in sorted(names):
                path = os.path.join(at, name)
                if name.endswith(".glb") and os.path.getsize(path) <= bytes_max:
                    to = os.path.join(target, "webxr", os.path.relpath(path, os.path.join(folder, "package")))
                    os.makedirs(os.path.dirname(to), exist_ok=True)
                    shutil.copy(path, to)
