#include "director/cli/init/name_rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/ascii.h"

namespace galley::init {
namespace {

constexpr std::string_view kBuildFile = "a file of a build tool";

using Words = std::set<std::string, std::less<>>;

struct LeftOut {
  std::string_view reason;
  Words extensions;
};

const std::vector<LeftOut>& KindsLeftOut() {
  static const std::vector<LeftOut> kinds = {
      {"a project of a modelling program: export it as glTF to have it cooked",
       {"blend", "blend1", "blend2", "max", "ma", "mb", "c4d", "hip", "hipnc", "hiplc", "ztl",
        "zpr", "skp", "3dm", "mud"}},
      {"a project of a painting program: export a PNG to have it cooked",
       {"psd", "psb", "xcf", "kra", "ora", "clip", "spp", "sbs", "sbsar", "aseprite", "pyxel",
        "piskel", "afphoto", "afdesign", "ai", "sketch", "pdn", "cdr"}},
      {"a project of a sound or video program",
       {"aup", "aup3", "flp", "als", "rpp", "cpr", "mmp", "mmpz", "fspro", "prproj", "aep",
        "kdenlive", "veg"}},
      {"the source of a program",
       {"c",   "cc",  "cpp", "cxx", "c++",  "h",   "hh",  "hpp",   "hxx",   "inl",
        "ipp", "m",   "mm",  "cs",  "java", "kt",  "kts", "scala", "swift", "rs",
        "go",  "py",  "pyw", "pyx", "pyi",  "rb",  "pl",  "zig",   "nim",   "hs",
        "vb",  "pas", "asm", "f90", "ts",   "tsx", "jsx", "vala",  "dart"}},
      {kBuildFile, {"cmake",  "mk",    "mak",      "ninja",   "sln",     "vcxproj",       "filters",
                    "csproj", "props", "gradle",   "gyp",     "bazel",   "bzl",           "pri",
                    "m4",     "am",    "uproject", "uplugin", "pbxproj", "code-workspace"}},
      {"a script for a shell", {"sh", "bash", "zsh", "fish", "bat", "cmd", "ps1"}},
      {"made by a compiler",
       {"o", "a", "lib", "exe", "dll", "so", "dylib", "pyc", "pyo", "class", "pdb", "ilk", "idb",
        "gch", "pch", "lo", "la"}},
      {"an archive",
       {"zip", "7z", "rar", "tar", "gz", "tgz", "bz2", "xz", "jar", "deb", "rpm", "iso", "dmg"}},
      {"for people to read",
       {"md", "markdown", "rst", "adoc", "doc", "docx", "odt", "pdf", "tex", "ppt", "pptx", "odp"}},
      {"left behind by an editor or a tool",
       {"bak", "orig", "rej", "tmp", "swp", "swo", "log", "patch", "diff"}},
  };
  return kinds;
}

const Words& NamesOfTools() {
  static const Words names = {"makefile",
                              "gnumakefile",
                              "cmakelists.txt",
                              "dockerfile",
                              "jenkinsfile",
                              "vagrantfile",
                              "gemfile",
                              "rakefile",
                              "configure",
                              "package.json",
                              "package-lock.json",
                              "yarn.lock",
                              "pnpm-lock.yaml",
                              "tsconfig.json",
                              "jsconfig.json",
                              "composer.json",
                              "composer.lock",
                              "cargo.toml",
                              "cargo.lock",
                              "go.mod",
                              "go.sum",
                              "pyproject.toml",
                              "setup.cfg",
                              "requirements.txt",
                              "meson.build",
                              "meson_options.txt",
                              "workspace",
                              "vcpkg.json",
                              "cmakepresets.json",
                              "cmakeuserpresets.json",
                              "compile_commands.json",
                              "desktop.ini",
                              "thumbs.db",
                              "galley.toml",
                              "sconstruct",
                              "sconscript",
                              "wscript"};
  return names;
}

bool BeginsWithAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.starts_with(word); });
}

bool IsText(std::string_view extension) {
  static const Words texts = {"",     "txt", "md",  "markdown", "rst",
                              "html", "htm", "rtf", "pdf",      "mit"};
  return texts.contains(extension);
}

bool IsLicenceName(std::string_view name, std::string_view extension) {
  if (!IsText(extension)) return false;
  return name.find("license") != name.npos || name.find("licence") != name.npos ||
         BeginsWithAny(name, {"copying", "copyright", "notice", "credits", "attribution", "authors",
                              "eula", "ofl"});
}

bool IsForPeople(std::string_view name, std::string_view extension) {
  return IsText(extension) &&
         BeginsWithAny(name,
                       {"readme", "changelog", "changes", "contributing", "contributors",
                        "code_of_conduct", "install", "todo", "news", "hacking", "history"}) &&
         (extension.empty() || name.find('.') != name.npos);
}

}  // namespace

std::string_view FileName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::string_view StemOf(std::string_view path) {
  const std::string_view name = FileName(path);
  return name.substr(0, name.rfind('.'));
}

std::string InLowerCase(std::string_view text) { return absl::AsciiStrToLower(std::string(text)); }

std::string Extension(std::string_view path) {
  const std::string_view name = FileName(path);
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? "" : InLowerCase(name.substr(dot + 1));
}

std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::optional<Decision> DecideByName(std::string_view path) {
  const std::string name = InLowerCase(FileName(path));
  const std::string extension = Extension(path);
  if (extension == "cook")
    return ReadByOthers("a sidecar of Galley: it says how the file beside it is cooked");
  if (NamesOfTools().contains(name)) return LeaveOut(std::string(kBuildFile));
  if (name.ends_with('~')) return LeaveOut("left behind by an editor or a tool");
  if (IsLicenceName(name, extension))
    return Copy("a licence or credits: most must go with what they are for");
  if (IsForPeople(name, extension)) return LeaveOut("for people to read");
  for (const LeftOut& kind : KindsLeftOut()) {
    if (kind.extensions.contains(extension)) return LeaveOut(std::string(kind.reason));
  }
  return std::nullopt;
}

std::string_view CookerOf(std::string_view extension) {
  static const std::map<std::string, std::string_view, std::less<>> cookers = {
      {"png", "texture"},   {"jpg", "texture"}, {"jpeg", "texture"}, {"tga", "texture"},
      {"bmp", "texture"},   {"hdr", "texture"}, {"wav", "audio"},    {"flac", "audio"},
      {"ogg", "audio"},     {"oga", "audio"},   {"opus", "audio"},   {"vert", "shader"},
      {"frag", "shader"},   {"comp", "shader"}, {"geom", "shader"},  {"tesc", "shader"},
      {"tese", "shader"},   {"gltf", "mesh"},   {"glb", "mesh"},     {"json", "data"},
      {"material", "data"}, {"level", "data"}};
  const auto found = cookers.find(extension);
  return found == cookers.end() ? std::string_view() : found->second;
}

std::string_view WhyCopied(std::string_view extension) {
  static const std::vector<LeftOut> kinds = {
      {"no cooker reads this image format; docs/cookers/command.md: a converter of yours can",
       {"exr", "webp", "gif", "tif", "tiff", "svg", "avif", "jxl", "pcx", "ppm", "pgm", "ico",
        "jp2", "qoi", "iff"}},
      {"a texture that is built already",
       {"dds", "ktx", "ktx2", "pvr", "astc", "basis", "crn", "vtf"}},
      {"no cooker reads this model format; docs/cookers/command.md: a converter of yours can",
       {"fbx",     "obj", "mtl", "dae", "3ds", "ply", "stl", "b3d",  "md2",  "md3",  "md5mesh",
        "md5anim", "iqm", "x",   "ac",  "g3d", "spm", "usd", "usda", "usdc", "usdz", "lwo",
        "bvh",     "vox", "pmd", "pmx", "vrm", "3mf", "ase", "smd",  "mdl"}},
      {"no cooker reads this sound format; docs/cookers/command.md: a converter of yours can",
       {"mp3", "m4a", "aac", "wma", "aif", "aiff", "au",  "mid", "midi", "mod",
        "xm",  "it",  "s3m", "sf2", "caf", "amr",  "ape", "wv",  "mpc",  "voc"}},
      {"no cooker reads video",
       {"mp4", "webm", "ogv", "avi", "mkv", "mov", "m4v", "mpg", "mpeg", "bik"}},
      {"a font", {"ttf", "otf", "ttc", "woff", "woff2", "fnt", "pfb", "bdf", "pcf"}},
      {"a shader in a form that no cooker reads: only .vert .frag .comp .geom .tesc .tese name a "
       "stage",
       {"glsl",  "vs",    "fs",     "gs",       "hlsl", "hlsli", "fx",    "wgsl",  "metal",
        "cg",    "slang", "shader", "gdshader", "rgen", "rchit", "rmiss", "rahit", "rint",
        "rcall", "mesh",  "task",   "vsh",      "fsh",  "glslv", "glslf", "cginc", "inc"}},
      {"a shader that is built already", {"spv", "dxil", "cso", "metallib"}},
      {"a script of the game, for all that its name tells",
       {"lua", "gd", "js", "mjs", "nut", "as", "wren", "squirrel", "ink", "yarn", "rpy", "tcl"}},
      {"text",
       {"txt", "csv", "tsv", "xml", "yaml", "yml",        "toml", "ini", "cfg", "conf", "html",
        "htm", "css", "po",  "pot", "ron",  "properties", "srt",  "vtt", "tr",  "mo"}},
  };
  for (const LeftOut& kind : kinds) {
    if (kind.extensions.contains(extension)) return kind.reason;
  }
  return "no cooker takes it: the game reads it as it is";
}

bool IsBuildFile(std::string_view path) {
  const auto decision = DecideByName(path);
  return decision.has_value() && decision->reason == kBuildFile &&
         InLowerCase(FileName(path)) != "galley.toml";
}

bool IsLicence(std::string_view path) {
  return IsLicenceName(InLowerCase(FileName(path)), Extension(path));
}

bool IsFolderForPeople(std::string_view name) {
  static const Words names = {"doc",     "docs", "documentation", "screenshots", "screenshot",
                              "website", "man",  "metainfo",      "appdata",     "debian"};
  return names.contains(InLowerCase(name));
}

bool IsFolderAside(std::string_view name) {
  static const Words names = {
      "tools",    "android",   "ios",   "apple",        "macos",      "osx",     "xcode", "msvc",
      "libs",     "vendor",    "cmake", "applications", "pixmaps",    "icons",   "test",  "tests",
      "testdata", "packaging", "ci",    "third_party",  "thirdparty", "external"};
  return IsFolderForPeople(name) || names.contains(InLowerCase(name));
}

}  // namespace galley::init
