"""Debian packages that are unpacked and not installed: content, and programs whose package would start a server."""
import glob, os, subprocess


class NotFetched(Exception):
    """apt cannot fetch the package; the text says why, for people."""


def unpack(package, folder):
    """Downloads the package into the folder, which exists, and unpacks it: the folder `x` there, which is returned."""
    download = ["apt-get", "-o", "APT::Sandbox::User=root", "download", "-qq", package]
    if subprocess.run(download, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        # Where nothing was missing, nothing has fetched the package lists.
        subprocess.run(["apt-get", "update", "-qq"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        done = subprocess.run(download, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise NotFetched(f"apt cannot fetch {package}: {done.stdout.strip()[-300:]}")
    [found] = glob.glob(os.path.join(folder, glob.escape(package) + "_*.deb"))
    unpacked = os.path.join(folder, "x")
    subprocess.run(["dpkg-deb", "-x", found, unpacked], check=True)
    return unpacked
