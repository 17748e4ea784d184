// The warnings of the mesh cooker: equal ones about many places of a file are one with a number.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace galley::worker::mesh {

// A warning is "<pointer>: <text>", and the text may begin with a count ("3 normals have no
// length"). Those of one text become one, where the first of them was: "<first pointer> and 70
// other places: <text>", with the sum of their counts. A single one stays as it is.
std::vector<std::string> Grouped(const std::vector<std::string>& warnings);

// The text of a warning about what was repaired, whose kind goes before the file's.
std::string RepairWarning(std::string_view text);

}  // namespace galley::worker::mesh
