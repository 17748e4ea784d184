#include "common/base/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <string_view>

#include "common/base/file.h"
#include "common/base/hex.h"
#include "fmt/format.h"

namespace galley {
namespace {

size_t Aligned(size_t size) { return (size + 3) & ~size_t{3}; }

// The build id in the notes of one segment; empty: the notes have none.
std::string IdInNotes(std::string_view notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof(header));
    notes.remove_prefix(sizeof(header));
    const size_t name = Aligned(header.n_namesz), value = Aligned(header.n_descsz);
    if (name + value > notes.size()) return "";
    if (header.n_type == NT_GNU_BUILD_ID &&
        notes.substr(0, header.n_namesz) == std::string_view("GNU", 4))
      return HexEncode(notes.substr(name, header.n_descsz));
    notes.remove_prefix(name + value);
  }
  return "";
}

// The program itself comes first.
int LookAtProgram(dl_phdr_info* info, size_t, void* found) {
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* begin = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
    std::string id = IdInNotes({begin, segment.p_memsz});
    if (id.empty()) continue;
    *static_cast<std::string*>(found) = std::move(id);
    break;
  }
  return 1;
}

}  // namespace

std::string BuildId() {
  std::string id;
  ::dl_iterate_phdr(LookAtProgram, &id);
  if (!id.empty()) return id;
  const auto stat = StatFile("/proc/self/exe");
  return stat.ok() ? fmt::format("{}-{}", stat->size_bytes, stat->mtime_ns) : "unknown";
}

}  // namespace galley
