"""What cooking itself costs: beside bare encoder processes, beside a process for each file, and beside other people's tools. For
scripts/bench, which says how they are run."""
import json, os, resource, shutil, statistics, subprocess, tempfile, time

import mesh_figures

SHADERS = 1000
LOOP_SHADERS = 200  # larger ones, 15 ms each
PROJECT = '[project]\nname = "bench"\n[[mount]]\npath = "/Game"\ndir = "content"\n[[platform]]\nname = "pc"\ntexture = "%s"\nshader = "spirv-1.5"\n%s'


def seconds_of_children(action):
    """(elapsed, processor time of the processes that `action` started and waited for)."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    action()
    elapsed, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def put_away(folder):
    """Gone without a removal: a file system that has just freed thousands of inodes is slow to give out new ones."""
    if os.path.exists(folder):
        kept = tempfile.mkdtemp(dir=os.path.dirname(folder), prefix="put-away-")
        os.rename(folder, kept + "/it")


def cook(bin, project, workers):
    put_away(project + "/.galley")
    subprocess.run([f"{bin}/galley", "cook", "--project", project, "--workers", str(workers), "--quiet"], check=True)


def write_lists(jobs, folder, parts):
    """Jobs as encode_one's arguments, dealt out by size so that the parts are alike."""
    files = [open(f"{folder}/jobs{i}", "w") for i in range(parts)]
    for i, job in enumerate(sorted(jobs, key=lambda job: -os.path.getsize(job["file"]))):
        line = [job["cooker"], job["settings"], job["parameters"], job["file"], job["name"], f"{folder}/out/{i}"]
        files[i % parts if i // parts % 2 == 0 else parts - 1 - i % parts].write(json.dumps(line + [f"{v}={h}" for v, h in job["includes"]]) + "\n")
    for file in files:
        file.close()
    return [file.name for file in files]


def side_by_side(commands, core):
    """Processor times of commands that run at the same time on one core, which goes from one to the other every few milliseconds: whatever the
    machine does meanwhile, it does to all. What a command does by the clock (a look at memory, a commit a second) counts for more than it should."""
    running = [subprocess.Popen(["taskset", "-c", str(core), *command], stdout=subprocess.DEVNULL) for command in commands]
    times = []
    for one in running:
        _, status, usage = os.wait4(one.pid, 0)
        one.returncode = os.waitstatus_to_exitcode(status)
        if one.returncode != 0:
            raise SystemExit(f"{one.args} failed")
        times.append(usage.ru_utime + usage.ru_stime)
    return times


def bare(bin, lists):
    running = [subprocess.Popen([f"{bin}/encode_one", "--list", one], stdout=subprocess.DEVNULL) for one in lists]
    if any([one.wait() != 0 for one in running]):
        raise SystemExit("encode_one failed")


def against_bare(bin, name, project, jobs, runs):
    """Processor time beside one bare encoder process; what two workers gain beside what two bare processes gain."""
    folder = tempfile.mkdtemp(dir=os.path.dirname(project))
    one, two = write_lists(jobs, folder, 1), []
    elapsed, pairs = {}, []
    for run in range(runs):
        put_away(project + "/.galley")
        commands = [[f"{bin}/galley", "cook", "--project", project, "--workers", "1", "--quiet"], [f"{bin}/encode_one", "--list", one[0]]]
        cores = sorted(os.sched_getaffinity(0))
        pairs.append(side_by_side(commands, cores[run % len(cores)]))
        for kind, action in (("bare1", lambda: bare(bin, one)), ("galley1", lambda: cook(bin, project, 1)),
                             ("bare2", lambda: bare(bin, two)), ("galley2", lambda: cook(bin, project, 2))):
            if kind == "bare2":
                two = write_lists(jobs, folder, 2)
            elapsed.setdefault(kind, []).append(seconds_of_children(action)[0])
            if kind == "bare2":
                one = write_lists(jobs, folder, 1)
    elapsed = {kind: statistics.median(all) for kind, all in elapsed.items()}
    galley, encoder = (statistics.median(times) for times in zip(*pairs))
    ratio = statistics.median(galley / encoder for galley, encoder in pairs)
    gain = (elapsed["galley1"] / elapsed["galley2"]) / (elapsed["bare1"] / elapsed["bare2"])
    print(f"{name:18} cpu            galley {galley:8.3f} s   bare encoder {encoder:8.3f} s   ratio {ratio:6.3f}")
    print(f"{name:18} second worker  galley {elapsed['galley1']:.2f} -> {elapsed['galley2']:.2f} s   bare {elapsed['bare1']:.2f} -> {elapsed['bare2']:.2f} s"
          f"   ratio of gains {gain:.3f}", flush=True)
    return [{"workload": name, "kind": "cpu", "ratio": round(ratio, 3)},
            {"workload": name, "kind": "second worker", "ratio": round(gain, 3)}]


# ---------------------------------------------------------------- shaders

def make_shaders(project):
    content = os.path.join(project, "content")
    os.makedirs(content)
    with open(content + "/lighting.glsl", "w") as file:
        file.write("#include \"math.glsl\"\nvec3 shade(vec3 albedo, vec3 normal, vec3 light) {\n"
                   "  return albedo * (0.1 + 0.9 * saturate(dot(normalize(normal), normalize(light))));\n}\n")
    with open(content + "/math.glsl", "w") as file:
        file.write("float saturate(float x) { return clamp(x, 0.0, 1.0); }\n")
    for i in range(SHADERS):
        with open(f"{content}/s{i}.frag", "w") as file:
            file.write("#version 450\n#extension GL_GOOGLE_include_directive : enable\n#include \"lighting.glsl\"\nlayout(location = 0) in vec3 normal;\n"
                       "layout(location = 1) in vec2 uv;\nlayout(location = 0) out vec4 color;\nlayout(set = 0, binding = 0) uniform sampler2D albedo;\n"
                       f"void main() {{ color = vec4(shade(texture(albedo, uv).rgb, normal, vec3(0.3, 0.8, {i}.5)), 1.0); }}\n")
    with open(project + "/galley.toml", "w") as file:
        file.write(PROJECT % ("bc", '[[rule]]\nmatch = "/Game/**/*.frag"\ncooker = "shader"\n'))


def shaders(bin, work, runs):
    """Against glslc, a process for each file, as many at a time as there are workers; and the cooker against a loop over the compiler in one
    process."""
    project = os.path.join(work, "shaders/project")
    make_shaders(project)
    names = "\n".join(f"s{i}.frag" for i in range(SHADERS))
    rows = []
    os.makedirs(project + "/spv")
    for count in (1, 2):
        glslc = ["xargs", f"-P{count}", "-I{}", "glslc", "-O", "--target-env=vulkan1.2", "{}", "-o", "../spv/{}.spv"]
        galley_s, glslc_s = [], []
        for _ in range(runs):
            glslc_s.append(seconds_of_children(lambda: subprocess.run(glslc, cwd=project + "/content", input=names, text=True, check=True))[0])
            # A cook takes so little beside it that one says less about Galley than about what else the machine does.
            galley_s += [seconds_of_children(lambda: cook(bin, project, count))[0] for _ in range(5)]
        galley, peer = statistics.median(galley_s), statistics.median(glslc_s)
        print(f"{'shaders':18} {count} at a time    galley {galley:8.3f} s   glslc per file {peer:8.3f} s   ratio {peer / galley:6.2f}", flush=True)
        rows.append({"workload": "shaders", "kind": f"glslc per file, {count} at a time", "ratio": round(peer / galley, 2)})
    loop = json.loads(subprocess.run([f"{bin}/shader_loop", str(LOOP_SHADERS), str(runs)], check=True, text=True, stdout=subprocess.PIPE).stdout)
    print(f"{'shaders':18} loop           {json.dumps(loop)}", flush=True)
    return rows + [{"workload": "shaders", "kind": "loop", **loop}]


# ---------------------------------------------------------------- meshes

GLBS, GLTFPACK = "@webxr-input-profiles/assets@1.0.20", "gltfpack@0.20.0"
# As our mesh cooker stores: 16 bits for positions and texture coordinates, 8 for normals and colours; nodes, materials and extras kept.
GLTFPACK_FLAGS = ["-vp", "16", "-vt", "16", "-vn", "8", "-vc", "8", "-kn", "-km", "-ke"]


def meshes(bin, work, runs):
    """Beside npm's gltfpack: bytes of vertices and indices, and cache misses for each triangle, over all of npm's small GLBs."""
    if shutil.which("npm") is None:
        print("meshes             left out: there is no npm on this machine")
        return []
    folder, project = os.path.join(work, "meshes"), os.path.join(work, "meshes/project")
    os.makedirs(project + "/content")
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", GLTFPACK], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["npm", "pack", "--silent", GLBS], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["tar", "xf", next(name for name in os.listdir(folder) if name.endswith(".tgz"))], cwd=folder, check=True)
    sources = []
    for at, _, names in sorted(os.walk(folder + "/package")):
        for name in sorted(names):
            if name.endswith(".glb") and os.path.getsize(f"{at}/{name}") <= 300 * 1024:
                sources.append(f"{os.path.basename(at)}_{name}")
                shutil.copy(f"{at}/{name}", f"{project}/content/{sources[-1]}")
    with open(project + "/galley.toml", "w") as file:
        file.write(PROJECT % ("bc", '[[rule]]\nmatch = "/Game/**/*.glb"\ncooker = "mesh"\n[[rule]]\nmatch = "/Game/**/*.{png,jpg}"\ncooker = "texture"\n'))
    cook(bin, project, 2)
    ours, theirs = [0, 0, 0], [0, 0, 0]
    for name in sources:
        packed = f"{folder}/packed.glb"
        subprocess.run([f"{folder}/node_modules/.bin/gltfpack", "-i", f"{project}/content/{name}", "-o", packed, *GLTFPACK_FLAGS], check=True,
                       stdout=subprocess.DEVNULL)
        for total, file in ((ours, f"{project}/.galley/cooked/pc/Game/{name}.glb"), (theirs, packed)):
            for i, value in enumerate(mesh_figures.figures(file)):
                total[i] += value
    size, misses = theirs[0] / ours[0], (theirs[2] / theirs[1]) / (ours[2] / ours[1])
    print(f"{'meshes':18} geometry       galley {ours[0]:8} bytes gltfpack {theirs[0]:8} bytes  ratio {size:6.3f}")
    print(f"{'meshes':18} vertex cache   galley {ours[2] / ours[1]:8.4f} misses a triangle ({ours[1]})   gltfpack {theirs[2] / theirs[1]:8.4f}"
          f" ({theirs[1]})   ratio {misses:6.3f}", flush=True)
    return [{"workload": "meshes", "kind": "geometry bytes", "ratio": round(size, 3)},
            {"workload": "meshes", "kind": "vertex cache misses", "ratio": round(misses, 3)}]
