#include "worker/cookers/library/build_id.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "common/base/hex.h"

namespace galley::worker {
namespace {

constexpr size_t kBuildIdDigits = 8;

struct Search {
  uintptr_t address = 0;  // some code of the wanted library
  std::string build_id;   // raw bytes
};

bool Holds(const dl_phdr_info& object, uintptr_t address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    const uintptr_t start = object.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && address >= start && address - start < header.p_memsz)
      return true;
  }
  return false;
}

// The build id in `notes`. A note: name size, descriptor size, type, name, descriptor; name and
// descriptor are padded to 4.
std::string FindBuildId(std::string_view notes) {
  constexpr auto kPadded = [](size_t size) { return (size + 3) & ~size_t{3}; };
  ElfW(Nhdr) note;
  while (notes.size() >= sizeof(note)) {
    std::memcpy(&note, notes.data(), sizeof(note));
    notes.remove_prefix(sizeof(note));
    const size_t name_size = kPadded(note.n_namesz);
    const size_t size = name_size + kPadded(note.n_descsz);
    if (size > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && notes.starts_with("GNU"))
      return std::string(notes.substr(name_size, note.n_descsz));
    notes.remove_prefix(size);
  }
  return {};
}

int VisitObject(dl_phdr_info* object, size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  if (!Holds(*object, search.address)) return 0;
  if (object->dlpi_name == nullptr || object->dlpi_name[0] == '\0') return 1;  // the program itself
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    if (header.p_type != PT_NOTE || !search.build_id.empty()) continue;
    search.build_id = FindBuildId(
        {reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr), header.p_memsz});
  }
  return 1;
}

}  // namespace

// The symbol is looked up by name, since the address of a function may be the address of a stub in
// the program.
std::string BuildIdOf(const char* symbol) {
  const void* address = dlsym(RTLD_DEFAULT, symbol);
  if (address == nullptr) return "static";
  Search search{.address = reinterpret_cast<uintptr_t>(address), .build_id = {}};
  dl_iterate_phdr(&VisitObject, &search);
  return search.build_id.empty() ? "static" : HexEncode(search.build_id).substr(0, kBuildIdDigits);
}

}  // namespace galley::worker
