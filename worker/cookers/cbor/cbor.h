// CBOR in core deterministic encoding (RFC 8949, 4.2.1): shortest heads, definite lengths, the
// shortest float that keeps the value, the keys of a map in bytewise lexicographic order of their
// encodings (so a shorter key comes before a longer one). Equal values give equal bytes.
//
//   {"b": 1, "aa": [true, 1.5]}  ->  A2 61 62 01  62 61 61 82 F5 F9 3E 00
#pragma once

#include <string>

#include "nlohmann/json.hpp"

namespace galley::worker {

// Integers stay integers and floats floats: 1 is 01, 1.0 is F9 3C 00. REQUIRES: `value` has no
// binary and no discarded value; its strings are UTF-8; the caller bounds the nesting, since the
// encoder recurses.
std::string EncodeCbor(const nlohmann::json& value);

}  // namespace galley::worker
