# Headers that most sources include (prefix.h, and test_prefix.h for tests) are compiled once for all targets, where GALLEY_UNITY hides missing includes anyhow
# and the compiler is g++. A precompiled header is read with the flags it was made with only; targets with others have DISABLE_PRECOMPILE_HEADERS, and one that
# lacks it gets a warning and reads the headers as text, or, with another -O, lets g++ 12 crash.
# galley_use_prefix(target name): the target begins with the prefix of that name, galley_prefix or galley_test_prefix.

function(_galley_add_prefix name header)
  set(source ${CMAKE_BINARY_DIR}/prefix/${name}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "// The precompiled header is all of this target.\n" @ONLY)
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE galley_compile_options fmt::fmt absl::statusor absl::time ${ARGN})
  target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/${header})
endfunction()

set(GALLEY_PREFIX OFF)
if(GALLEY_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(GALLEY_PREFIX ON)
  _galley_add_prefix(galley_prefix prefix.h)
  if(GALLEY_TESTS)
    _galley_add_prefix(galley_test_prefix test_prefix.h GTest::gmock GTest::gtest)
  endif()
endif()

function(galley_use_prefix target name)
  if(GALLEY_PREFIX)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()
