"""Debian packages that are unpacked and not installed: content, and programs whose package would start a server."""
import fcntl, glob, os, subprocess, tempfile


class NotFetched(Exception):
    """apt cannot fetch the package; the text says why, for people."""


def unpack(package, folder):
    """Downloads the package into the folder, which exists, and unpacks it: the folder `x` there, which is returned."""
    with open(os.path.join(tempfile.gettempdir(), f"galley-apt-{os.getuid()}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # apt fails where another one updates its lists
        _fetch(package, folder)
    [found] = glob.glob(os.path.join(folder, glob.escape(package) + "_*.deb"))
    unpacked = os.path.join(folder, "x")
    subprocess.run(["dpkg-deb", "-x", found, unpacked], check=True)
    return unpacked


def _fetch(package, folder):
    download = ["apt-get", "-o", "APT::Sandbox::User=root", "download", "-qq", package]
    if subprocess.run(download, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        # Where nothing was missing, nothing has fetched the package lists.
        subprocess.run(["apt-get", "update", "-qq"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        done = subprocess.run(download, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise NotFetched(f"apt cannot fetch {package}: {done.stdout.strip()[-300:]}")
