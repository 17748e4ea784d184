# `cmake --install build --prefix DIR`: DIR/bin has the programs, which find one another beside themselves and need nothing else of this repository;
# DIR/share/doc/galley has the documentation, in the same places as here, and the licence.
include(GNUInstallDirs)
install(TARGETS galley galley-worker RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# A link to galley-worker, as in the build folder. galley-director follows when it is a service.
install(FILES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/galley-cook DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN __pycache__ EXCLUDE)
