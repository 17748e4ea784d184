// Reads a cooked tree as a game would: it looks at the marker, then at the headers of all textures
// (KTX 2.0) and meshes (GLB 2.0). It needs nothing of Galley, only the C++20 library: c++
// -std=c++20 load_tree.cc -o load_tree usage: load_tree SANDBOX, such as
// my_game/.galley/cooked/windows
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
static_assert(std::endian::native == std::endian::little, "both formats are little-endian");

// The fixed parts of the two formats, as their specifications have them.
struct Ktx2Header {
  uint8_t identifier[12];
  uint32_t vk_format, type_size, width, height, depth, layers, faces, levels, supercompression;
  uint32_t dfd_offset, dfd_bytes, key_value_offset, key_value_bytes;
  uint64_t global_data_offset, global_data_bytes;
};
struct Ktx2Level {  // `levels` of these follow the header, the largest level first
  uint64_t offset, bytes, uncompressed_bytes;
};
struct GlbHeader {
  uint32_t magic, version, bytes;  // of the file
  uint32_t json_bytes, json_type;  // of the first chunk; the JSON text follows
};
static_assert(sizeof(Ktx2Header) == 80 && sizeof(Ktx2Level) == 24 && sizeof(GlbHeader) == 20);

constexpr uint8_t kKtx2Identifier[12] = {0xAB, 'K',  'T',  'X',  ' ',  '2',
                                         '0',  0xBB, '\r', '\n', 0x1A, '\n'};
constexpr uint32_t kGlbMagic = 0x46546C67, kJsonChunk = 0x4E4F534A;

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The T at this offset; none when the file is too short.
template <typename T>
std::optional<T> At(const std::string& bytes, size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

bool ReadTexture(const std::string& name, const std::string& bytes) {
  const auto header = At<Ktx2Header>(bytes, 0);
  if (!header || !std::equal(kKtx2Identifier, kKtx2Identifier + 12, header->identifier))
    return false;
  uint64_t pixels_bytes = 0;
  for (uint32_t i = 0; i < std::max(header->levels, 1u); ++i) {
    const auto level = At<Ktx2Level>(bytes, sizeof(Ktx2Header) + i * sizeof(Ktx2Level));
    if (!level || level->offset > bytes.size() || bytes.size() - level->offset < level->bytes)
      return false;
    pixels_bytes += level->bytes;  // upload bytes.data() + level->offset to the level i of a
                                   // texture of vk_format
  }
  std::printf("%s: %u x %u, %u levels, VkFormat %u, %llu bytes\n", name.c_str(), header->width,
              header->height, header->levels, header->vk_format,
              static_cast<unsigned long long>(pixels_bytes));
  return true;
}

bool ReadMesh(const std::string& name, const std::string& bytes) {
  const auto header = At<GlbHeader>(bytes, 0);
  if (!header || header->magic != kGlbMagic || header->version != 2 ||
      header->json_type != kJsonChunk)
    return false;
  if (header->bytes != bytes.size() || bytes.size() - sizeof(GlbHeader) < header->json_bytes)
    return false;
  std::printf("%s: glTF of %u bytes of JSON and %zu of vertices, indices and animations\n",
              name.c_str(), header->json_bytes,
              bytes.size() - sizeof(GlbHeader) - header->json_bytes);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || !fs::is_directory(argv[1])) {
    std::fprintf(stderr, "usage: load_tree SANDBOX\n");
    return 2;
  }
  const fs::path sandbox = argv[1];
  // The marker is absent while a cook replaces files, and after such a cook was interrupted.
  const std::string marker = ReadAll(sandbox / ".galley-root");
  if (marker.empty()) {
    std::fprintf(stderr, "load_tree: %s is not complete: cook again\n", argv[1]);
    return 1;
  }
  std::printf("root %s\n", marker.substr(0, marker.find('\n')).c_str());
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(sandbox))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  int others = 0;
  for (const fs::path& path : files) {
    const std::string name = "/" + fs::relative(path, sandbox).generic_string();
    const bool is_texture = path.extension() == ".ktx2", is_mesh = path.extension() == ".glb";
    if (!is_texture && !is_mesh) {
      others += !path.filename().string().starts_with(".galley-");
      continue;
    }
    if (is_texture ? ReadTexture(name, ReadAll(path)) : ReadMesh(name, ReadAll(path))) continue;
    std::fprintf(stderr, "load_tree: %s is damaged\n", name.c_str());
    return 1;
  }
  std::printf("and %d other files\n", others);
  return 0;
}
